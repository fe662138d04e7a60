import { promisesHold } from './hold.contract.ts';

promisesHold(1, 15);

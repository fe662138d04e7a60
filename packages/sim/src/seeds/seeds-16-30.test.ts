import { promisesHold } from './hold.contract.ts';

promisesHold(16, 15);

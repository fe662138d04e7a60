import { promisesHold } from './hold.contract.ts';

promisesHold(51, 50);

import { promisesHold } from './hold.contract.ts';

promisesHold(31, 30);

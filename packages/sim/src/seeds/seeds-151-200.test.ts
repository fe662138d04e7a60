import { promisesHold } from './hold.contract.ts';

promisesHold(151, 50);

import { promisesHold } from './hold.contract.ts';

promisesHold(101, 50);

import { ringsHold } from './hold.contract.ts';

ringsHold(1000, 1000);

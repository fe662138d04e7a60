import { ringsHold } from './hold.contract.ts';

ringsHold(0, 200);

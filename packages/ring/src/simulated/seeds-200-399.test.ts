import { ringsHold } from './hold.contract.ts';

ringsHold(200, 200);

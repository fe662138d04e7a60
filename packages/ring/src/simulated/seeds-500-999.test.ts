import { ringsHold } from './hold.contract.ts';

ringsHold(500, 500);

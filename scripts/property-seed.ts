/**
 * Run before every test file: property tests try the same inputs each time, so that a failure belongs to the change
 * that brought it. `CARILLON_SEED=any npm test` tries fresh ones, and `CARILLON_SEED=7` the ones of seed 7.
 */
import { configureGlobal } from 'fast-check';

const wanted = process.env['CARILLON_SEED'] ?? '1';
if (wanted !== 'any') configureGlobal({ seed: Number(wanted) });

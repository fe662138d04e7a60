/** The pickers: this project's placers and packages in wide use, all behind one call. */
import { createRequire } from 'node:module';
import {
  compileSkeleton,
  compileTargets,
  hashNumber,
  hashText,
  type Placer,
} from '@carillon/placement';
import { HashRing as Ketama } from 'ketama';

/** The same keys as numbers (ours) and as texts (theirs), so that making them costs no picker time. */
export interface Keys {
  readonly hi: Uint32Array;
  readonly lo: Uint32Array;
  readonly text: readonly string[];
}

export interface Picker {
  readonly name: string;
  /** How many targets one call finds: some rivals know only one. */
  readonly picks: number;
  /** Looks a key up and throws the answer away. */
  readonly pick: (key: number) => void;
  /** The first target of a key. */
  readonly first: (key: number) => string;
}

export type MakePicker = (targets: readonly string[], keys: Keys) => Picker;

// None of these packages has types; the parts in use are declared here.
const require = createRequire(import.meta.url);
const HashRing = require('hashring') as new (
  servers: readonly string[],
) => { range(key: string, size: number): string[] };
const select = require('rendezvous-hash') as (
  key: string,
  targets: Readonly<Record<string, string>>,
) => string;
const VirtualRing = require('node-hashring') as new (
  targets: readonly string[],
) => { findNode(key: string): string };

function ours(name: string, compile: (targets: readonly string[]) => Placer): MakePicker {
  return (targets, keys) => {
    const placer = compile(targets);
    const out = new Int32Array(2);
    const pick = (key: number): void => {
      placer.pick(keys.hi[key] as number, keys.lo[key] as number, 2, out);
    };
    return {
      name,
      picks: 2,
      pick,
      first: (key) => {
        pick(key);
        return placer.names[out[0] as number] as string;
      },
    };
  };
}

export const flat = ours('carillon', (targets) => compileTargets(targets));
export const skeleton = ours('carillon skeleton', (targets) => compileSkeleton(targets));

export const flatText: MakePicker = (targets, keys) => {
  const placer = compileTargets(targets);
  const out = new Int32Array(2);
  const pick = (key: number): void => void placer.pickText(keys.text[key] as string, 2, out);
  return {
    name: 'carillon, text keys',
    picks: 2,
    pick,
    first: (key) => {
      pick(key);
      return placer.names[out[0] as number] as string;
    },
  };
};

/** One hash of the key a target and nothing else: the least cost of rendezvous hashing without a skeleton. */
export const bareHash: MakePicker = (targets, keys) => {
  const seeds = Uint32Array.from(targets, (name) => hashText(name, 0));
  const find = (key: number): number => {
    const hi = keys.hi[key] as number;
    const lo = keys.lo[key] as number;
    let best = 0;
    let highest = -1;
    for (let i = 0; i < seeds.length; i++) {
      const hash = hashNumber(hi, lo, seeds[i] as number) >>> 0;
      if (hash > highest) {
        highest = hash;
        best = i;
      }
    }
    return best;
  };
  return { name: 'bare hash', picks: 1, pick: find, first: (key) => targets[find(key)] as string };
};

const hashring: MakePicker = (targets, keys) => {
  const ring = new HashRing(targets);
  const range = (key: number): string[] => ring.range(keys.text[key] as string, 2);
  return { name: 'hashring', picks: 2, pick: range, first: (key) => range(key)[0] as string };
};

const ketama: MakePicker = (targets, keys) => {
  const ring = new Ketama([...targets]);
  const two = (key: number): string[] => ring.getNodes(keys.text[key] as string, 2);
  return { name: 'ketama', picks: 2, pick: two, first: (key) => two(key)[0] as string };
};

const nodeHashring: MakePicker = (targets, keys) => {
  const ring = new VirtualRing(targets);
  const find = (key: number): string => ring.findNode(keys.text[key] as string);
  return { name: 'node-hashring', picks: 1, pick: find, first: find };
};

const rendezvousHash: MakePicker = (targets, keys) => {
  const byName = Object.fromEntries(targets.map((name) => [name, name]));
  const find = (key: number): string => select(keys.text[key] as string, byName);
  return { name: 'rendezvous-hash', picks: 1, pick: find, first: find };
};

export const rivals: readonly MakePicker[] = [hashring, ketama, nodeHashring, rendezvousHash];

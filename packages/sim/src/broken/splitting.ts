/**
 * Broken rules of order across a net-split, and of members that a view does not show: versions, clocks, asking before a
 * call.
 */
import {
  Coordinator,
  insides,
  Peers,
  Presence,
  Rejoining,
  Vanished,
} from '@carillon/server/internal';
import type { Broken, Mend } from './broken.ts';

/** No member notices that its view is not that of the others. */
export function viewsAlike(): Mend {
  const presence = Presence.prototype;
  const { differs } = presence;
  presence.differs = () => false;
  return () => {
    presence.differs = differs;
  };
}

/** A member that is not listed itself asks the listed members and no others. */
export function asksListed(): Mend {
  const { cluster } = insides;
  const { givesAway } = cluster;
  cluster.givesAway = () => false;
  return () => {
    cluster.givesAway = givesAway;
  };
}

const order: readonly Broken[] = [
  {
    name: 'versions that a client has seen are ignored',
    apply: () => {
      const coordinator = Coordinator.prototype;
      const { saw } = coordinator;
      coordinator.saw = () => undefined;
      return () => {
        coordinator.saw = saw;
      };
    },
  },
  {
    name: 'the clock of a member that vanished counts no more',
    apply: () => {
      const { presence } = insides;
      const { forgetAbsent } = presence;
      presence.forgetAbsent = function (names) {
        for (const name of this.clocks.keys()) if (!names.includes(name)) this.clocks.delete(name);
        forgetAbsent.call(this, names);
      };
      return () => {
        presence.forgetAbsent = forgetAbsent;
      };
    },
  },
  {
    name: 'a give-back ends every claim of its sender',
    apply: () => {
      const peers = Peers.prototype;
      const { send } = peers;
      peers.send = function (name, message, done) {
        send.call(this, name, message.type === 'claim' ? { ...message, serial: 0 } : message, done);
      };
      return () => {
        peers.send = send;
      };
    },
  },
];

const hidden: readonly Broken[] = [
  {
    name: 'a member that starts alone does not wait for others',
    apply: () => {
      const rejoining = Rejoining.prototype;
      const { awaits } = rejoining;
      rejoining.awaits = () => false;
      return () => {
        rejoining.awaits = awaits;
      };
    },
  },
  {
    name: 'members that vanished are not told',
    apply: () => {
      const vanished = Vanished.prototype;
      const { update } = vanished;
      vanished.update = () => undefined;
      return () => {
        vanished.update = update;
      };
    },
  },
  {
    name: 'a member whose view differs asks its replicas only',
    apply: viewsAlike,
  },
  {
    name: 'a member that gives a record away asks its replicas only',
    apply: asksListed,
  },
  {
    name: 'a new stand-in takes the former one off the list',
    apply: () => {
      const { resync } = insides;
      const { standIns } = resync;
      resync.standIns = function (record, wanted) {
        const { able } = this.parts;
        return wanted.filter(able).length >= record.factor
          ? []
          : standIns.call(this, record, wanted);
      };
      return () => {
        resync.standIns = standIns;
      };
    },
  },
];

export const splitting: readonly Broken[] = [...order, ...hidden];

import { describe, expect, it } from 'vitest';
import { ChangesUnderWay, isOvertaken } from './under-way.ts';

const timer = { hi: 1, lo: 2 };
const own = 7;

function version(versionMs: number, member = own) {
  return { versionMs, versionTie: 3 * 1024 + member };
}

describe('changes of one timer that are under way at one member', () => {
  it('the later change wins, although the earlier one is made again with a higher version', () => {
    const changes = new ChangesUnderWay();
    const [first, second] = [changes.begin(timer), changes.begin(timer)];
    changes.stamped(first, version(10));
    changes.stamped(second, version(11));
    expect(isOvertaken(first, version(11))).toBe(true);
    changes.stamped(first, version(12));
    expect(isOvertaken(second, version(12))).toBe(false);
    changes.stamped(second, version(13));
    expect(isOvertaken(first, version(13))).toBe(true);
  });

  it('a change that is over by now has overtaken the earlier one all the same', () => {
    const changes = new ChangesUnderWay();
    const [first, second] = [changes.begin(timer), changes.begin(timer)];
    changes.stamped(second, version(11));
    changes.end(second);
    expect(isOvertaken(first, version(11))).toBe(true);
    changes.end(first);
    const third = changes.begin(timer);
    changes.stamped(third, version(12));
    expect(isOvertaken(first, version(12))).toBe(false);
  });

  it.each([
    { what: 'of another member', by: version(11, own + 1) },
    { what: 'above the later change', by: version(12) },
  ])('a version $what is no change that came later', ({ by }) => {
    const changes = new ChangesUnderWay();
    const [first, second] = [changes.begin(timer), changes.begin(timer)];
    changes.stamped(first, version(10));
    changes.stamped(second, version(11));
    expect(isOvertaken(first, by)).toBe(false);
  });

  it('a change of another timer overtakes nothing', () => {
    const changes = new ChangesUnderWay();
    const first = changes.begin(timer);
    const other = changes.begin({ hi: 2, lo: 2 });
    changes.stamped(other, version(11));
    expect(isOvertaken(first, version(11))).toBe(false);
  });
});

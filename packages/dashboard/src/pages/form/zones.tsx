/** The names of all time zones that the browser knows, to choose from while typing. */

export const zonesId = 'zones';

const zones: readonly string[] = ['UTC', ...Intl.supportedValuesOf('timeZone')];

export function Zones() {
  return (
    <datalist id={zonesId}>
      {zones.map((zone) => (
        <option key={zone} value={zone} />
      ))}
    </datalist>
  );
}

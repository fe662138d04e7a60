/** The frame of the page: brand, navigation, which member this is, and the view in it. */
import { useEffect, useState } from 'preact/hooks';
import { Audit } from './pages/history/audit.tsx';
import { DeadLetters } from './pages/dead-letters.tsx';
import { Doctor } from './pages/doctor.tsx';
import { Locks } from './pages/locks.tsx';
import { Login } from './pages/login.tsx';
import { lostMs, snapshot } from './live.ts';
import { Overview } from './pages/overview.tsx';
import { Placement } from './pages/placement.tsx';
import { clusterFigures } from './parts/cluster/cluster-figures.ts';
import { route } from './route.ts';
import { namespace, standing } from './session.ts';
import type { Snapshot } from './parts/shapes.ts';
import { titleOf } from './titles.ts';
import { Timer } from './pages/timer.tsx';
import { Timers } from './pages/timers.tsx';
import { EditTimer, SetTimer } from './pages/form/set-timer.tsx';
import { Topology } from './pages/topology.tsx';
import { Who } from './pages/who.tsx';

const views: readonly (readonly [string, string])[] = [
  ['overview', 'Overview'],
  ['topology', 'Topology'],
  ['timers', 'Timers'],
  ['dead-letters', 'Dead letters'],
  ['audit', 'Audit'],
  ['placement', 'Placement'],
  ['locks', 'Locks'],
  ['doctor', 'Doctor'],
];

export function App() {
  const now = snapshot.value;
  const at = route.value;
  const { view } = at;
  const [isOpen, setOpen] = useState(false);
  const shownTitle = titleOf(at, now?.self ?? null);
  useEffect(() => {
    document.title = shownTitle;
  }, [shownTitle]);
  useEffect(() => setOpen(false), [at]);
  return (
    <div class="frame">
      <a class="skip" href="#content" onClick={skip}>
        Skip to the content
      </a>
      <header class={isOpen ? 'side open' : 'side'}>
        <a class="brand" href="#/overview">
          <Bell />
          Carillon
        </a>
        <button
          type="button"
          class="button menu"
          aria-expanded={isOpen}
          aria-controls="views"
          onClick={() => setOpen(!isOpen)}
        >
          Menu
        </button>
        <nav id="views" aria-label="Views" onClick={() => setOpen(false)}>
          {views.map(([name, title]) => (
            <a key={name} href={`#/${name}`} aria-current={name === view ? 'page' : undefined}>
              {title}
              {name === 'dead-letters' && clusterFigures(now?.cluster.members ?? []).letters > 0 ? (
                <span class="dot" title="There are some" />
              ) : null}
            </a>
          ))}
          <a href="docs">API reference</a>
        </nav>
        {now === null ? null : (
          <div class="below">
            <Who />
            <Identity now={now} />
          </div>
        )}
      </header>
      <main id="content" tabIndex={-1}>
        <Content now={now} />
      </main>
    </div>
  );
}

/** Another namespace is another set of timers: nothing of the one before stays. */
function Content({ now }: { readonly now: Snapshot | null }) {
  if (standing.value === 'out') return <Login />;
  return now === null ? <WaitingPage /> : <View key={namespace.value} now={now} />;
}

/** The address stays that of the view. */
function skip(event: Event): void {
  event.preventDefault();
  document.getElementById('content')?.focus();
}

function Identity({ now }: { readonly now: Snapshot }) {
  const lost = lostMs.value !== null;
  return (
    <div class="identity">
      <span class={`pulse ${lost ? 'lost' : ''}`} aria-hidden="true" />
      <span>
        <strong>{now.self}</strong>
        <br />
        <span class="dim">
          {lost ? 'not heard' : 'live'} · {now.version}
        </span>
      </span>
    </div>
  );
}

function View({ now }: { readonly now: Snapshot }) {
  const { view, part } = route.value;
  switch (view) {
    case 'overview':
      return <Overview now={now} />;
    case 'topology':
      return <Topology now={now} selected={part} />;
    case 'timers':
      if (part === 'new') return <SetTimer now={now} />;
      if (part === 'edit') return <EditTimer now={now} />;
      return part === '' ? <Timers /> : <Timer key={part} id={part} />;
    case 'dead-letters':
      return <DeadLetters />;
    case 'audit':
      return <Audit />;
    case 'placement':
      return <Placement now={now} />;
    case 'locks':
      return <Locks />;
    case 'doctor':
      return <Doctor />;
    default:
      return <Missing view={view} />;
  }
}

function Missing({ view }: { readonly view: string }) {
  return (
    <div class="empty">
      <h1>There is no view “{view}”</h1>
      <p>
        Go to the <a href="#/overview">overview</a>.
      </p>
    </div>
  );
}

function WaitingPage() {
  return (
    <div class="empty" role="status">
      <h1>Waiting for the member</h1>
      <p>
        {lostMs.value === null
          ? 'The first numbers come within a second.'
          : 'It has not answered yet. Trying again.'}
      </p>
    </div>
  );
}

function Bell() {
  return (
    <svg class="bell" viewBox="0 0 24 24" aria-hidden="true">
      <path d="M12 3.2v1.6M6.2 15.6c1-1.6 1.2-3.4 1.2-5a4.6 4.6 0 0 1 9.2 0c0 1.6.2 3.4 1.2 5" />
      <path d="M4.4 17.6h15.2" />
      <path d="M10.2 20.4a1.9 1.9 0 0 0 3.6 0" />
    </svg>
  );
}

/** The API reference: every operation of this member, made of the document that it serves at /openapi.json. */
import { sentenceOf } from '@carillon/core';
import { useEffect, useState } from 'preact/hooks';
import { Wrong } from '../parts/parts.tsx';
import { type Document, type Group, groupsOf, search } from './openapi.ts';
import { OperationView } from './operation.tsx';

interface Loaded {
  readonly document: Document;
  readonly groups: readonly Group[];
  /** Whether this member asks for tokens: then examples carry one. */
  readonly withToken: boolean;
}

async function load(): Promise<Loaded> {
  const [answer, who] = await Promise.all([fetch('openapi.json'), fetch('whoami')]);
  if (!answer.ok) throw new Error(`The member answered ${answer.status}.`);
  const document = (await answer.json()) as Document;
  const withToken =
    who.status === 401 || (who.ok && ((await who.json()) as { auth: boolean }).auth);
  return { document, groups: groupsOf(document), withToken };
}

export function Page() {
  const [loaded, setLoaded] = useState<Loaded | null>(null);
  const [error, setError] = useState<string | null>(null);
  const [text, setText] = useState('');
  useEffect(() => {
    load().then(setLoaded, (cause: unknown) => {
      setError(sentenceOf(cause));
    });
  }, []);
  // The part that an address names is there only now.
  useEffect(() => {
    if (loaded !== null) document.getElementById(location.hash.slice(1))?.scrollIntoView();
  }, [loaded]);
  const groups = loaded === null ? [] : search(loaded.groups, text);
  return (
    <div class="frame">
      <header class="side reference">
        <a class="brand" href="./">
          Carillon
        </a>
        <input
          type="search"
          placeholder="Search"
          aria-label="Search the operations"
          value={text}
          onInput={(event) => setText(event.currentTarget.value)}
        />
        <nav aria-label="Operations">
          {groups.map(({ title, operations }) => (
            <div key={title}>
              <h3>{title}</h3>
              {operations.map(({ anchor, method, path, summary }) => (
                <a key={anchor} href={`#${anchor}`} title={summary}>
                  <span class={`verb small ${method.toLowerCase()}`}>{method}</span>
                  <span class="where">{path}</span>
                </a>
              ))}
            </div>
          ))}
        </nav>
      </header>
      <main id="content" tabIndex={-1}>
        <h1>API reference</h1>
        <Wrong says={error} />
        {loaded === null ? null : <Operations loaded={loaded} groups={groups} />}
      </main>
    </div>
  );
}

function Operations(props: { readonly loaded: Loaded; readonly groups: readonly Group[] }) {
  const { document: whole, withToken } = props.loaded;
  return (
    <>
      <p class="lead">
        {whole.info.description} Release {whole.info.version}; for programs:{' '}
        <a href="openapi.json">openapi.json</a>. Back to the <a href="./">dashboard</a>.
      </p>
      {props.groups.length === 0 ? <p class="dim">Nothing fits.</p> : null}
      {props.groups.map(({ title, operations }) => (
        <div key={title}>
          <h2 class="group">{title}</h2>
          {operations.map((operation) => (
            <OperationView
              key={operation.anchor}
              operation={operation}
              schemas={whole.components.schemas}
              withToken={withToken}
            />
          ))}
        </div>
      ))}
    </>
  );
}

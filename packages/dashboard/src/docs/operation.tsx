/** One operation: its parameters and body, its answers, and a request to copy. */
import { useState } from 'preact/hooks';
import { Fields, type Schemas } from './fields.tsx';
import { type Answer, curlOf, kindOf, type Operation, type Parameter } from './openapi.ts';

export function OperationView(props: {
  readonly operation: Operation;
  readonly schemas: Schemas;
  readonly withToken: boolean;
}) {
  const { operation, schemas, withToken } = props;
  const { anchor, method, path, summary, description, needs, parameters, body } = operation;
  const heading = `title-${anchor}`;
  return (
    <section class="panel operation" id={anchor} aria-labelledby={heading}>
      <h2 id={heading}>
        <span class={`verb ${method.toLowerCase()}`}>{method}</span>{' '}
        <a class="mono path" href={`#${anchor}`}>
          {path}
        </a>
      </h2>
      <p>
        <strong>{summary}.</strong> {description}
      </p>
      <p class="note">
        {needs === null ? 'Open without a token.' : `With authentication: scope ${needs}.`}
      </p>
      <Curl text={curlOf(operation, location.origin, withToken)} />
      {parameters.length === 0 ? null : <Parameters parameters={parameters} />}
      {body === null ? null : (
        <>
          <h3>
            Body <span class="kind">{kindOf(body.schema)}</span>
          </h3>
          <Fields schema={body.schema} schemas={schemas} />
        </>
      )}
      <h3>Answers</h3>
      {operation.answers.map((answer) => (
        <AnswerView key={answer.status} answer={answer} schemas={schemas} />
      ))}
    </section>
  );
}

function Curl({ text }: { readonly text: string }) {
  const [copied, setCopied] = useState(false);
  const copy = async (): Promise<void> => {
    // Browsers give no clipboard to pages that came over plain HTTP from elsewhere.
    await navigator.clipboard?.writeText(text).then(
      () => setCopied(true),
      () => undefined,
    );
  };
  return (
    <div class="curl">
      <pre tabIndex={0}>{text}</pre>
      {window.isSecureContext ? (
        <button type="button" class="button" onClick={() => void copy()}>
          {copied ? 'Copied' : 'Copy'}
        </button>
      ) : null}
    </div>
  );
}

function Parameters({ parameters }: { readonly parameters: readonly Parameter[] }) {
  return (
    <>
      <h3>Parameters</h3>
      <ul class="fields">
        {parameters.map(({ name, in: place, required, description, schema }) => (
          <li key={`${place} ${name}`}>
            <code>{name}</code> <span class="kind">{kindOf(schema)}</span>
            <span class="place">{place}</span>
            {required === true ? <span class="required">required</span> : null}
            {description === undefined ? null : <span class="dim meaning">{description}</span>}
          </li>
        ))}
      </ul>
    </>
  );
}

function AnswerView({ answer, schemas }: { readonly answer: Answer; readonly schemas: Schemas }) {
  const { status, description, schema } = answer;
  const tone = status.startsWith('2') ? 'good' : 'quiet';
  const line = (
    <>
      <span class={`badge ${tone}`}>{status}</span> {description}
    </>
  );
  const isPlain = schema === null || status.startsWith('4') || status.startsWith('5');
  if (isPlain) return <p class="answer">{line}</p>;
  return (
    <details class="answer">
      <summary>
        {line} <span class="kind">{kindOf(schema)}</span>
      </summary>
      <Fields schema={schema} schemas={schemas} />
    </details>
  );
}

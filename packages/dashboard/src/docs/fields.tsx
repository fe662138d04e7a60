/** The members of an object of the API: name, kind and meaning of each, inner objects indented below their own. */
import { fieldsOf, kindOf, resolved, type Schema } from './openapi.ts';

export type Schemas = Readonly<Record<string, Schema>>;

const depthMax = 6;

export function Fields(props: {
  readonly schema: Schema;
  readonly schemas: Schemas;
  readonly depth?: number;
}) {
  const { schema, schemas, depth = 0 } = props;
  const fields = fieldsOf(schema, schemas);
  if (fields.length === 0 || depth > depthMax) return null;
  return (
    <ul class="fields">
      {fields.map(({ name, schema: field, required }) => (
        <li key={name}>
          <code>{name}</code> <span class="kind">{kindOf(field)}</span>
          {required ? <span class="required">required</span> : null}
          <Meaning text={resolved(field, schemas).description} />
          <Fields schema={field} schemas={schemas} depth={depth + 1} />
        </li>
      ))}
    </ul>
  );
}

function Meaning({ text }: { readonly text: string | undefined }) {
  return text === undefined ? null : <span class="dim meaning">{text}</span>;
}

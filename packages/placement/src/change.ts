/**
 * A topology with some vertices changed, as an operator changes a running cluster. Ids and seeds stay, so placement
 * changes no more than the change itself requires.
 */
import { checkTopology } from './built.ts';
import { PlacementError } from './errors.ts';
import { type Topology, targetsOf, type Vertex } from './topology.ts';
import { checkWeight } from './flat/rendezvous.ts';
import { record, refuseUnknownFields, show } from './input.ts';

export interface VertexChange {
  readonly weight?: number;
  readonly up?: boolean;
}

const changeFields = ['weight', 'up'] as const satisfies (keyof VertexChange)[];

/** A copy with the vertices at some paths changed. Throws PlacementError for a path that is not there. */
export function changeVertices(
  topology: Topology,
  changes: Readonly<Record<string, VertexChange>>,
): Topology {
  checkTopology(topology);
  const left = new Set(Object.keys(record(changes, 'The changes of vertices')));
  const changed = mapVertices(topology, (vertex) => {
    if (!Object.hasOwn(changes, vertex.path)) return {};
    left.delete(vertex.path);
    const what = `The change of "${vertex.path}"`;
    const change: VertexChange = record(changes[vertex.path], what, vertex.path);
    refuseUnknownFields(change, changeFields, { what, path: vertex.path });
    const { weight, up } = change;
    if (weight !== undefined) checkWeight(weight, vertex.path);
    if (up !== undefined && typeof up !== 'boolean') {
      const says = `"up" of "${vertex.path}" must be true or false, not ${show(up)}.`;
      throw new PlacementError('bad_input', says, vertex.path);
    }
    return {
      ...(weight === undefined ? {} : { ownWeight: weight }),
      ...(up === undefined ? {} : { up }),
    };
  });
  for (const path of left) {
    throw new PlacementError('unknown_vertex', `There is no vertex "${path}" to change.`, path);
  }
  return changed;
}

/** A copy with the fields of each vertex that `change` returned replaced; weights are summed anew where asked. */
export function mapVertices(
  topology: Topology,
  change: (vertex: Vertex) => Partial<Pick<Vertex, 'ownWeight' | 'up' | 'expansion'>>,
): Topology {
  const copy = (vertex: Vertex): Vertex => {
    const own = { ...vertex, ...change(vertex) };
    const children = vertex.children.map(copy);
    const sum = children.reduce((total, child) => total + child.weight, 0);
    const summed = topology.weights === 'sum' && children.length > 0;
    return { ...own, children, weight: summed ? own.ownWeight * sum : own.ownWeight };
  };
  const children = topology.children.map(copy);
  return { ...topology, children, targets: targetsOf(children, topology.levels.length - 1) };
}

/**
 * `GET /doctor`: the state of all members, with advice; `GET /doctor/bundle`: the same with figures and options, for a
 * report.
 */
import type { Bundle, Diagnosis } from '../../doctor/doctor.ts';
import { type ApiResponse, jsonResponse } from '../../http/message.ts';
import { formatInstant } from '../instant.ts';
import type { Route } from '../router.ts';
import type { DoctorJson } from '../schema/doctor.ts';
import { renderCluster } from './admin.ts';

export interface Examines {
  examine(): Promise<Diagnosis>;
  bundle(): Promise<Bundle>;
}

/** Receivers of all namespaces are named: only a token for all of them may ask. */
export function doctorRoutes(doctor: Examines): Route[] {
  const get = (
    path: string,
    needs: 'read' | 'admin',
    handle: () => Promise<ApiResponse>,
  ): Route => ({
    method: 'GET',
    path,
    needs,
    whole: true,
    handle,
  });
  return [
    get('/doctor', 'read', async () => jsonResponse(renderDiagnosis(await doctor.examine()))),
    get('/doctor/bundle', 'admin', async () => jsonResponse(renderBundle(await doctor.bundle()))),
  ];
}

function renderDiagnosis({ atMs, verdict, findings, members, missing }: Diagnosis): DoctorJson {
  return {
    at: formatInstant(atMs),
    verdict,
    findings: findings.map(({ id, weight, member, says, do: advice, receiver }) => {
      const about = receiver === undefined ? null : { receiver };
      return { id, weight, member, says, do: advice, ...about };
    }),
    members: members.map((facts) => kebab(facts) as DoctorJson['members'][number]),
    missing: [...missing],
  };
}

function renderBundle({ diagnosis, cluster, metrics, config }: Bundle) {
  return {
    doctor: renderDiagnosis(diagnosis),
    cluster: renderCluster(cluster),
    metrics: metrics.split('\n'),
    config,
  };
}

/** The same with names as the API writes them. */
function kebab(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(kebab);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => [
      name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`),
      kebab(inner),
    ]),
  );
}

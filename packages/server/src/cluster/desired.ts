/**
 * Who should hold a timer, given who answers. The view alone says who *would*; a replica that has been
 * silent for long gets a stand-in, listed after the others, so that the timer has its copies meanwhile.
 */
import type { View } from './view.ts';

/** The replicas the view asks for, then one stand-in for each of them that `absent` says is not there. */
export function desiredReplicas(
  view: View,
  number: { readonly hi: number; readonly lo: number },
  factor: number,
  absent: (name: string) => boolean,
): readonly string[] {
  const { hi, lo } = number;
  const ideal = view.place(hi, lo, factor);
  const missing = ideal.filter(absent).length;
  if (missing === 0) return ideal;
  const standIns = view
    .place(hi, lo, view.activeCount)
    .slice(ideal.length)
    .filter((name) => !absent(name))
    .slice(0, missing);
  return standIns.length === 0 ? ideal : [...ideal, ...standIns];
}

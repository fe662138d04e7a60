/** Makes an input that goes wrong as small as it gets by leaving out stretches, long ones first. */

const triesMax = 3000;

export async function smaller(
  input: Uint8Array,
  goesWrong: (bytes: Uint8Array) => Promise<boolean>,
): Promise<Uint8Array> {
  let least = input;
  let tries = 0;
  for (let length = Math.ceil(input.length / 2); length >= 1; length = Math.floor(length / 2)) {
    for (let at = 0; at < least.length && tries < triesMax; ) {
      const without = Buffer.concat([least.subarray(0, at), least.subarray(at + length)]);
      tries++;
      if (await goesWrong(without)) least = without;
      else at += length;
    }
  }
  return least;
}

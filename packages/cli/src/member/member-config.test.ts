import { expect, test } from 'vitest';
import { recordingIo } from '../testing/world.ts';
import { memberConfig } from './member-config.ts';

test.each([
  ['/no/such.yaml', 'cannot be read: there is no file or folder /no/such.yaml.'],
  ['/', 'The configuration file / cannot be read: it is a folder, not a file.'],
])('--config %s, which cannot be read, is told in plain words', (file, sentence) => {
  const { loaded } = memberConfig(['--config', file], recordingIo({}));
  expect(loaded).toMatchObject({ ok: false, problems: [expect.stringContaining(sentence)] });
});

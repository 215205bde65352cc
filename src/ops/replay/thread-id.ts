import { assertId } from '../../base/checks/ids.ts';
import { LanefoldError } from '../../base/errors.ts';

export const grammarHint = 'Rename the file: use [A-Za-z0-9._:@-], starting with a letter or digit.';

export const isId = (text: string): boolean => {
  try {
    assertId(text, '');
    return true;
  } catch (error) {
    if (error instanceof LanefoldError) return false;
    throw error;
  }
};

/** `<prefix><file name without extension>:<index from 0>`. @throws LanefoldError `invalid_id` */
export function recordingThreadId(prefix: string, name: string, index: number): string {
  const id = `${prefix}${name}:${index}`;
  assertId(id, 'The thread id');
  return id;
}

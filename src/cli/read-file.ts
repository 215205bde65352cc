import { open, type FileHandle } from 'node:fs/promises';
import { UsageError } from './errors.ts';

/** Opens a file that an option names. */
async function opened(file: string): Promise<FileHandle> {
  try {
    return await open(file);
  } catch (error) {
    throw new UsageError(`Cannot read ${file}: ${(error as Error).message}`, 'Pass the path of a readable file.');
  }
}

export async function readText(file: string): Promise<string> {
  const handle = await opened(file);
  try {
    return await handle.readFile('utf8');
  } finally {
    await handle.close();
  }
}

/** The JSON values of a file with one value per line. */
export async function* readJsonLines(file: string): AsyncGenerator<unknown, void, void> {
  const handle = await opened(file);
  for await (const text of handle.readLines()) {
    if (text.trim() === '') continue;
    try {
      yield JSON.parse(text);
    } catch {
      throw new UsageError(`${file} has a line that is not JSON.`, 'Pass a file with one JSON value on each line.');
    }
  }
}

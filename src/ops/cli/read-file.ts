import { open, type FileHandle } from 'node:fs/promises';
import { maxRequestDepth, readJson as parse } from '../../base/common/json.ts';
import { LineSplitter } from '../../base/common/line-splitter.ts';
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
    const read = parse(text, maxRequestDepth);
    if (!read.ok && read.kind !== 'syntax')
      throw new UsageError(`A line of ${file} cannot be read. ${read.problem}`, 'Correct the file.');
    if (!read.ok)
      throw new UsageError(`${file} has a line that is not JSON.`, 'Pass a file with one JSON value on each line.');
    yield read.value;
  }
}

/** The lines of a file, or of standard input for `-`. Only a line feed ends a line. */
export async function* readLines(file: string): AsyncGenerator<string, void, void> {
  const stream = file === '-' ? process.stdin : (await opened(file)).createReadStream();
  const lines = new LineSplitter();
  for await (const chunk of stream.setEncoding('utf8') as AsyncIterable<string>) yield* lines.push(chunk);
  const rest = lines.rest();
  if (rest !== '') yield rest;
}

/** The JSON value of a file, or of standard input for `-`. */
export async function readJson(file: string): Promise<unknown> {
  const lines: string[] = [];
  for await (const line of readLines(file)) lines.push(line);
  const read = parse(lines.join('\n'), maxRequestDepth);
  if (read.ok) return read.value;
  if (read.kind !== 'syntax') throw new UsageError(`${file} cannot be read. ${read.problem}`, 'Correct the file.');
  throw new UsageError(`${file} is not JSON: ${read.problem}`, 'Pass a file with one JSON value.');
}

import { execFile, spawnSync } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';

const execute = promisify(execFile);

/** Whether spin and a C compiler, with which it builds its searches, are there. Says so if not. */
export function canCheck(): boolean {
  const missing = ['spin', 'gcc'].filter((program) => spawnSync('which', [program]).status !== 0);
  if (missing.length > 0) console.log(`No ${missing.join(' and ')} found: the model is not checked.`);
  return missing.length === 0;
}

/** The model; `-D` definitions choose the world. */
export const model = path.resolve('model/runs.pml');
/** The line of runs that wait for several limits is a model of its own. */
export const lineModel = path.resolve('model/line.pml');
const folder = path.dirname(model);

export interface Search {
  states: number;
  depth: number;
  /** The property that does not hold, if there is one. The search ends there. */
  broken?: string;
}

export interface SearchOptions {
  /** Default: the model. */
  source?: string;
  /** Looks for what continues for ever, under weak fairness, instead of for states that break a property. */
  cycles?: boolean;
  /** Compiles in a second, but searches at half the speed: for a search that ends soon. */
  short?: boolean;
}

/** Searches the whole world that the definitions describe. Uses at most 2 GB. */
export async function search(definitions: readonly string[], options: SearchOptions = {}): Promise<Search> {
  const { source = model, cycles = false, short = false } = options;
  const dir = await mkdtemp(path.join(tmpdir(), 'lanefold-model-'));
  try {
    const defined = [...definitions, ...(cycles ? ['LIVENESS'] : [])].map((definition) => `-D${definition}`);
    await execute('spin', ['-a', ...defined, source], { cwd: dir });
    // the never claim of a recorded run forbids the usual reduction
    const kind = cycles
      ? ['-DNFAIR=4']
      : ['-DSAFETY', '-DNOFAIR', ...(source.startsWith(folder) ? [] : ['-DNOREDUCE'])];
    await execute('gcc', [short ? '-O0' : '-O1', '-w', '-DMEMLIM=2000', ...kind, '-o', 'pan', 'pan.c'], { cwd: dir });
    const { stdout } = await execute(
      path.join(dir, 'pan'),
      ['-m300000', '-w22', ...(cycles ? ['-a', '-f', '-A'] : [])],
      {
        cwd: dir,
        maxBuffer: 64 * 1024 * 1024,
      },
    );
    return read(stdout);
  } finally {
    await rm(dir, { recursive: true, force: true });
  }
}

function read(output: string): Search {
  const found = /depth reached (\d+), errors: (\d+)[^]*?(\S+) states, stored/.exec(output);
  const broken = brokenIn(output);
  // a search that ran out of memory or depth has not seen every state
  const complete = found && !/max search depth too small|out of memory|memory exceeded/i.test(output);
  if (!complete || (found[2] === '0') !== (broken === undefined)) throw new Error(`The search failed:\n${output}`);
  const counts = { states: Number(found[3]), depth: Number(found[1]) };
  return broken === undefined ? counts : { ...counts, broken };
}

/** `holds` puts the name of a property behind its condition. */
function brokenIn(output: string): string | undefined {
  if (output.includes('acceptance cycle (')) return /never claim\s+\+ \((\w+)\)/.exec(output)?.[1];
  return /assertion violated .*?(\w+)\)? \(at depth/.exec(output)?.[1];
}

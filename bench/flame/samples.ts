import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';

/** How often each stack was seen: its functions with `;` between, from the one called first to the one at work. */
export type Stacks = Map<string, number>;

/** By process: `worker`, or `postgres` for all processes of the server. */
export type Samples = Map<string, Stacks>;

/** Reads what `perf record` wrote. */
export async function readStacks(recording: string): Promise<Stacks> {
  const script = spawn('perf', ['script', '-i', recording, '-F', 'comm,ip,sym,dso'], {
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const stacks: Stacks = new Map();
  let frames: string[] = [];
  for await (const line of createInterface({ input: script.stdout })) {
    if (line.startsWith('\t') || line.startsWith('  ')) {
      const name = frameOf(line.trim());
      if (name !== undefined && name !== frames.at(-1)) frames.push(name);
    } else if (line === '' && frames.length > 0) {
      const stack = frames.toReversed().join(';');
      stacks.set(stack, (stacks.get(stack) ?? 0) + 1);
      frames = [];
    }
  }
  return stacks;
}

/** The function of a line such as `7f12 uv_run (/usr/bin/node)`; undefined for a frame that says nothing. */
function frameOf(line: string): string | undefined {
  const [, symbol, image] = /^\S+ (.+) \(([^()]*)\)$/.exec(line) ?? [];
  if (symbol === undefined || symbol === '[unknown]') return undefined;
  const [, name, source] =
    /^(?:JS|Script|Eval|Function|LazyCompile|RegExp|Builtin|BytecodeHandler)?:?[*~^+]?(.*?) ((?:file:|node:|\/)\S+)$/.exec(
      symbol,
    ) ?? [];
  if (source !== undefined) return `${name || '(anonymous)'} ${sourceOf(source)}`;
  if (/^(Builtin|BytecodeHandler|Stub|Script|RegExp):/.test(symbol) || image!.startsWith('/tmp/perf-'))
    return undefined;
  return (image!.includes('kernel') ? `kernel ${symbol}` : symbol).replaceAll(';', ',');
}

/** `pg/lib/client.js`, `node:net`, or our own code. */
function sourceOf(source: string): string {
  const file = source.replace(/(:\d+){1,2}$/, '');
  const packaged = /node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(file);
  if (packaged) return `in ${packaged[1]}`;
  return file.startsWith('node:') ? `in ${file}` : 'in lanefold';
}

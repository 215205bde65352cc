import type { Servers } from '../setup.ts';
import { enter, type Contestant, type Entered } from '../support/contestant.ts';

/** Enters the systems that can execute a run here. Prints a line for each other one. */
export async function available(servers: Servers, contestants: Contestant[]): Promise<Entered[]> {
  const found: Entered[] = [];
  for (const contestant of contestants) {
    try {
      found.push(await enter(servers, contestant));
    } catch (error) {
      console.log(`${contestant.name} is left out: ${inOneLine(error)}`);
    }
  }
  return found;
}

/** Processes of a benchmark report an error by its stack, which may quote source code before the message. */
function inOneLine(error: unknown): string {
  const lines = (error instanceof Error ? error.message : String(error)).split('\n');
  return (lines.find((line) => /^\w*Error\b/.test(line)) ?? lines[0]!).replace(/^\w*Error( \[\w+\])?: /, '');
}

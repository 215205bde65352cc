// npm run mutants [-- words of a name]: makes each mistake of the list and runs the test that must notice it. Exit code 1 if
// one does not.
import { mutants } from './mutants.ts';
import { Runner, type Ended } from './runner.ts';

const words = process.argv.slice(2).join(' ');
const chosen = mutants.filter(({ name }) => name.includes(words));
const tests = [...new Map(chosen.map(({ caughtBy }) => [`${caughtBy.file} ${caughtBy.test}`, caughtBy])).values()];
let wrong = 0;

const say = (what: string, { state, error }: Ended, isRight: boolean, since: number): void => {
  if (!isRight) wrong += 1;
  const seconds = ((performance.now() - since) / 1000).toFixed(1);
  console.log(`${isRight ? 'ok    ' : 'WRONG '} ${what}: ${state}${error ? `, ${error}` : ''} (${seconds} s)`);
};

async function main(): Promise<void> {
  if (chosen.length === 0) throw new Error(`No mistake of the list has a name with "${words}".`);
  const runner = await Runner.open();
  try {
    const since = performance.now();
    const intact = await runner.run(tests);
    for (const [n, ended] of intact.entries())
      if (ended.state !== 'passed') say(`${tests[n]!.test}, without a mistake`, ended, false, since);
    console.log(`${tests.length} tests without a mistake: ${((performance.now() - since) / 1000).toFixed(1)} s`);
    for (const mutant of wrong === 0 ? chosen : []) {
      const from = performance.now();
      const ended = await runner.runUnder(mutant, mutant.caughtBy);
      say(mutant.name, ended, ended.state === 'failed', from);
    }
  } finally {
    await runner.close();
  }
  console.log(wrong === 0 ? `${chosen.length} mistakes, all noticed.` : `${wrong} wrong.`);
  process.exitCode = wrong === 0 ? 0 : 1;
}

void main();

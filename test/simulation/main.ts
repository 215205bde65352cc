import { Model } from './model/model.ts';
import { simulate } from './simulate.ts';

for (let seed = 1; seed <= Number(process.argv[4] ?? 1); seed++) {
const [, steps = '10000'] = process.argv.slice(2);

const started = performance.now();
const model = new Model();
const result = await simulate(model, { seed: Number(seed), steps: Number(steps), stops: false });
const ms = performance.now() - started;
console.log(result.steps, result.virtualMs, result.events.length, Math.round(ms), Math.round(result.steps / ms * 1000));
if (result.found.length) console.log(seed, result.found.slice(0, 4));
}


import { Model } from './model/model.ts';
import { simulate } from './simulate.ts';

const [, steps = '10000', n='1'] = process.argv.slice(2);
for (let seed = 1; seed <= Number(n); seed++) {
const started = performance.now();
const model = new Model();
const result = await simulate(model, { seed: Number(seed), steps: Number(steps) });
const ms = performance.now() - started;
console.log(seed, result.steps, result.virtualMs, result.events.length, Math.round(ms), Math.round(result.steps / ms * 1000));
if (result.found.length) console.log(seed, result.found.slice(0, 4));
}

// Names what failed in the reports that reporter.mjs wrote, and counts; exit code 1 if anything failed.
import { existsSync, readFileSync } from 'node:fs';

const read = (name) =>
  existsSync(name) ? JSON.parse(readFileSync(name, 'utf8')) : { faults: ['the tests did not run'], files: [] };
const sum = { passed: 0, failed: 0, skipped: 0 };
for (const { faults, files } of process.argv.slice(2).map(read)) {
  for (const fault of faults) console.log(`FAILED outside of the tests: ${fault.slice(0, 2_000)}`);
  sum.failed += faults.length;
  for (const { name, passed, skipped, unfinished, failures } of files) {
    for (const { test, why } of failures) console.log(`FAILED ${name} > ${`${test}: ${why}`.slice(0, 400)}`);
    sum.passed += passed;
    sum.skipped += skipped;
    sum.failed += unfinished + failures.length;
  }
}
console.log(`${sum.passed} passed, ${sum.failed} failed, ${sum.skipped} skipped`);
if (sum.failed > 0) process.exitCode = 1;

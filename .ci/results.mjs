// Reads what reporter.mjs wrote. `failed REPORT` lists the files to run again; none where something failed that no file
// answers for. `sum REPORT…` names what failed and counts. A report may have a second one beside it, REPORT.again: what
// that has of a file stands for the file.
import { existsSync, readFileSync } from 'node:fs';

const read = (name) =>
  existsSync(name) ? JSON.parse(readFileSync(name, 'utf8')) : { faults: ['the tests did not run'], files: [] };
const show = (label, files) => {
  for (const { name, failures } of files) {
    for (const { test, why } of failures) console.log(`${label} ${name} > ${`${test}: ${why}`.slice(0, 400)}`);
  }
};

const [command, ...reports] = process.argv.slice(2);
if (command === 'failed') {
  const { faults, files } = read(reports[0]);
  const answerable = faults.length === 0 && files.every(({ unfinished }) => unfinished === 0);
  const failed = files.filter(({ failures }) => failures.length > 0).map(({ name }) => name);
  if (answerable) for (const name of new Set(failed)) console.log(name);
} else {
  const sum = { passed: 0, failed: 0, skipped: 0 };
  for (const report of reports) {
    const first = read(report);
    const again = existsSync(`${report}.again`) ? read(`${report}.again`) : { faults: [], files: [] };
    const replaced = new Set(again.files.map(({ name }) => name));
    const kept = first.files.filter(({ name }) => !replaced.has(name));
    show(
      'FAILED AT FIRST',
      first.files.filter(({ name }) => replaced.has(name)),
    );
    const files = [...kept, ...again.files];
    show('FAILED', files);
    const faults = [...first.faults, ...again.faults];
    for (const fault of faults) console.log(`FAILED outside of the tests: ${fault.slice(0, 2_000)}`);
    sum.failed += faults.length;
    for (const { passed, skipped, unfinished, failures } of files) {
      sum.passed += passed;
      sum.skipped += skipped;
      sum.failed += unfinished + failures.length;
    }
  }
  console.log(`${sum.passed} passed, ${sum.failed} failed, ${sum.skipped} skipped`);
  if (sum.failed > 0) process.exitCode = 1;
}

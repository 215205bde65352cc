// Reads reports of the test runner. `failed REPORT` lists the files to run again; `sum REPORT…` names what failed and
// counts. A report may have a second one beside it, REPORT.again: what it has of a file stands for that file.
import { existsSync, readFileSync } from 'node:fs';

const read = (file) => {
  const text = existsSync(file) ? readFileSync(file, 'utf8') : '';
  return text === '' ? [] : JSON.parse(text).testResults;
};
/** A file that could not be loaded counts as one failed test. */
const failuresOf = ({ message, status, assertionResults }) => {
  const failures = assertionResults.filter((test) => test.status === 'failed');
  if (failures.length > 0 || status !== 'failed') return failures;
  return [{ fullName: '(the file itself)', failureMessages: [message] }];
};
const failedFiles = (files) => [
  ...new Set(files.filter((file) => failuresOf(file).length > 0).map(({ name }) => name)),
];
const show = (label, files) => {
  for (const file of files) {
    for (const { fullName, failureMessages } of failuresOf(file)) {
      console.log(`${label} ${file.name} > ${fullName}: ${failureMessages.join(' ').slice(0, 400)}`);
    }
  }
};

const [command, ...reports] = process.argv.slice(2);
if (command === 'failed') {
  for (const name of failedFiles(read(reports[0]))) console.log(name);
} else {
  const sum = { passed: 0, failed: 0, skipped: 0 };
  for (const report of reports) {
    const first = read(report);
    const again = read(`${report}.again`);
    const replaced = new Set(again.map(({ name }) => name));
    show(
      'FAILED AT FIRST',
      first.filter(({ name }) => replaced.has(name)),
    );
    const files = [...first.filter(({ name }) => !replaced.has(name)), ...again];
    show('FAILED', files);
    for (const file of files) {
      sum.failed += failuresOf(file).length;
      for (const { status } of file.assertionResults) {
        if (status === 'passed') sum.passed += 1;
        else if (status !== 'failed') sum.skipped += 1;
      }
    }
  }
  console.log(`${sum.passed} passed, ${sum.failed} failed, ${sum.skipped} skipped`);
  if (sum.failed > 0) process.exitCode = 1;
}

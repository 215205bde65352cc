// Writes what a test run came to, also what failed outside of any test, to the file named by REPORT.
import { writeFileSync } from 'node:fs';

const texts = (errors) => errors.map(({ message }) => message).join(' ');

function toFile(module) {
  const file = { name: module.moduleId, passed: 0, skipped: 0, unfinished: 0, failures: [] };
  for (const test of module.children.allTests()) {
    const { state, errors = [] } = test.result();
    if (state === 'failed') file.failures.push({ test: test.fullName, why: texts(errors) });
    else file[state === 'pending' ? 'unfinished' : state] += 1;
  }
  if (module.state() === 'failed' && file.failures.length === 0) {
    const suites = [...module.children.allSuites()].flatMap((suite) => suite.errors());
    file.failures.push({ test: '(outside of its tests)', why: texts([...module.errors(), ...suites]) });
  }
  return file;
}

export default class {
  #expected = 0;

  onTestRunStart({ length }) {
    this.#expected = length;
  }

  onTestRunEnd(modules, errors) {
    const files = modules.map(toFile);
    const missing = this.#expected - files.length;
    // nothing but its stack says where such an error came from
    const faults = [
      ...errors.map(({ message, stack }) => `${message}\n${stack ?? ''}`),
      ...(missing > 0 ? [`${missing} files did not run`] : []),
    ];
    writeFileSync(process.env['REPORT'], JSON.stringify({ faults, files }));
  }
}

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
  #shard = { index: 1, count: 1 };
  #expected = 0;

  onInit({ config }) {
    if (config.shard) this.#shard = config.shard;
  }

  // told of the files of all shards; the first ones take what is left over
  onTestRunStart({ length }) {
    const { index, count } = this.#shard;
    this.#expected = Math.floor(length / count) + (index <= length % count ? 1 : 0);
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

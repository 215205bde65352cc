import { BaseBuilder } from '@workflow/builders';
import path from 'node:path';

const source = import.meta.dirname;

/** Writes the two handlers of the workflow, as an integration of a framework does, to the current folder. */
class Builder extends BaseBuilder {
  async build() {
    const inputFiles = [path.join(source, 'agent.js')];
    await this.createWorkflowsBundle({ inputFiles, outfile: path.resolve('flow.cjs'), format: 'cjs' });
    await this.createStepsBundle({ inputFiles, outfile: path.resolve('step.cjs'), format: 'cjs' });
  }
}

await new Builder({ buildTarget: 'standalone', dirs: ['.'], workingDir: source }).build();

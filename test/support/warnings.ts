/** Node warns of listeners that nothing removes: such a warning in the console of a user is a defect. */
function failOnLeak({ name, message }: Error): void {
  if (name === 'MaxListenersExceededWarning') throw new Error(`${name}: ${message}`);
}

// files of one process share its listeners, and not this module
if (!process.listeners('warning').some(({ name }) => name === failOnLeak.name)) process.on('warning', failOnLeak);

export { treeCpuMs } from '../../src/bench/cpu.ts';

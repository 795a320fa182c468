// The workflows of one worker, of both kinds: the interpreter, and the run without it.
export { runDefinition } from '../../apps/workflow/src/durable/workflows.ts'
export { bareRun } from './bare-run.ts'

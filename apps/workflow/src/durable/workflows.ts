// What Temporal may start, by name. The bundle is made of this file.
export { runDefinition, runScheduled } from './run.ts'

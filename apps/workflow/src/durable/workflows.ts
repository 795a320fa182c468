// The workflows that Temporal can start, by name. The bundle is built from this file.
export { runDefinition, runScheduled } from './run.ts'

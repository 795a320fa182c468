/** Operations that are complete once their rows are written. They still have a Task, because clients wait for one. */
export const immediateOperations = [
  {
    name: 'rename',
    task: { name: 'vdcUpdateVapp', doing: 'Renaming', done: 'Renamed' },
  },
  {
    name: 'updateMetadata',
    task: { name: 'metadataUpdate', doing: 'Writing metadata of', done: 'Wrote metadata of' },
  },
  {
    name: 'updateLease',
    task: { name: 'vdcUpdateVapp', doing: 'Setting leases of', done: 'Set leases of' },
  },
  {
    name: 'deploy',
    task: { name: 'vappDeploy', doing: 'Deploying', done: 'Deployed' },
  },
] as const
export type WrittenOperation = (typeof immediateOperations)[number]['name']

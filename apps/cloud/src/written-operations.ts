/** What is done as soon as it is written down, and is a Task all the same: clients wait for one. */
export const writtenOperations = [
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
export type WrittenOperation = (typeof writtenOperations)[number]['name']

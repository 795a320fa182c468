/** Changes of networks. Their rows are written by the request; their tasks end when the network server has projected them. */
export const networkOperations = [
  {
    name: 'createNetwork',
    task: { name: 'networkCreateOrgVdcNetwork', doing: 'Creating', done: 'Created' },
  },
  {
    name: 'updateNetwork',
    task: { name: 'networkUpdateNetwork', doing: 'Updating', done: 'Updated' },
  },
  {
    name: 'deleteNetwork',
    task: { name: 'networkDelete', doing: 'Deleting', done: 'Deleted' },
  },
] as const
export type NetworkOperation = (typeof networkOperations)[number]['name']

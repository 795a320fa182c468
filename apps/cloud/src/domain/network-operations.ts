/** Changes of networks and edge gateways. Their rows are written by the request; their tasks end when the network server has projected them. */
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
  {
    name: 'createEdgeGateway',
    task: { name: 'edgeGatewayCreate', doing: 'Creating', done: 'Created' },
  },
  {
    name: 'updateEdgeGateway',
    task: { name: 'edgeGatewayUpdate', doing: 'Updating', done: 'Updated' },
  },
  {
    name: 'deleteEdgeGateway',
    task: { name: 'edgeGatewayDelete', doing: 'Deleting', done: 'Deleted' },
  },
  {
    name: 'configureServices',
    task: { name: 'edgeGatewayConfigureServices', doing: 'Configuring', done: 'Configured' },
  },
] as const
export type NetworkOperation = (typeof networkOperations)[number]['name']

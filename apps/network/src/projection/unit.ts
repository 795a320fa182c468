// What is projected as a whole. Rows of an edge gateway refer to rows of its networks and back, so these are one unit.
import type { ProjectedNetwork } from './projected-cloud.ts'

export const gatewayUnit = (id: string): string => `edge gateway/${id}`
export const groupUnit = (id: string): string => `edge group/${id}`
/** The unit of a network: that of its edge gateway, if it has one. */
export const networkUnit = ({ id, edgeGateway }: Pick<ProjectedNetwork, 'id' | 'edgeGateway'>) =>
  edgeGateway === null ? `network/${id}` : gatewayUnit(edgeGateway)

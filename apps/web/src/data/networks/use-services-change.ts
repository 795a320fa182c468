// Changes of the rules of an edge gateway.
import { linkOf } from '../../api/documents.ts'
import type { EdgeGatewayDocument } from '../../api/edge-documents.ts'
import {
  linesOfServices,
  servicesOf,
  type ServicesChange,
} from '../../model/networks/edge-gateway.ts'
import { useVersionedChange, versionedCurl, type VersionedKind } from './use-versioned-change.ts'

export const configureHref = (gateway: EdgeGatewayDocument): string | undefined =>
  linkOf(gateway, 'edgeGateway:configureServices')

const edgeServices: VersionedKind<EdgeGatewayDocument, ServicesChange> = {
  method: 'POST',
  changeHref: configureHref,
  // Only the services that the change touches: the others stay.
  bodyOf: (gateway, change) => change(servicesOf(gateway)),
  linesOf: (gateway) => linesOfServices(servicesOf(gateway)),
}

export const servicesCurl = (gateway: EdgeGatewayDocument, change: ServicesChange): string =>
  versionedCurl(edgeServices, gateway, change)

export const useServicesChange = () => useVersionedChange(edgeServices)

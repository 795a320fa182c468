import { fill } from '@skerry/service'
import { element, type Element } from '@skerry/xml'

import type { Caller } from '../auth/caller.ts'
import type { RequestContext } from '../context.ts'
import { at } from '../dialect/addresses.ts'
import { isIn } from '../dialect/version.ts'
import { may } from '../domain/authorize.ts'
import { decideFor } from '../domain/vm-status.ts'
import type { VmRow } from '../inventory/vms.ts'
import { vappOperations, type VappOperation } from '../operations/vapp-operations.ts'
import { operations } from '../operations/vm-operations.ts'
import type { Action } from '../tasks/operation.ts'

/** The addresses in documents: below the configured public address, never the cell's own. */
export class Hrefs {
  readonly #base: URL
  constructor(base: RequestContext['base']) {
    this.#base = base
  }
  to = (path: string): string => new URL(path, this.#base).href
  vm = (id: string): string => this.to(fill(at.entity, { entity: `vm-${id}` }))
  vapp = (id: string): string => this.to(fill(at.entity, { entity: `vapp-${id}` }))
  task = (id: string): string => this.to(fill(at.task, { task: id }))
  org = (id: string): string => this.to(fill(at.org, { org: id }))
  vdc = (id: string): string => this.to(fill(at.vdc, { vdc: id }))
  accessToken = (id: string): string => this.to(fill(at.accessToken, { accessToken: id }))
  userTokens = (id: string): string => this.to(fill(at.userTokens, { account: id }))
  userToken = (id: string): string => this.to(fill(at.userToken, { userToken: id }))
  catalog = (id: string): string => this.to(fill(at.catalog, { catalog: id }))
  upload = (id: string): string => this.to(fill(at.transfer, { upload: id }))
  catalogItem = (id: string): string => this.to(fill(at.catalogItem, { catalogItem: id }))
  resolved = (urn: string): string => `${this.to(at.resolver)}/${urn}`
  tasks = (org: string): string => this.to(fill(at.tasks, { org }))
  adminOrg = (org: string): string => this.to(fill(at.adminOrg, { org }))
  adminUser = (id: string): string => this.to(fill(at.adminUser, { account: id }))
  adminVdc = (vdc: string): string => this.to(fill(at.adminVdc, { vdc }))
  adminHost = (host: string): string => this.to(fill(at.adminHost, { host }))
  template = (id: string): string => this.to(fill(at.template, { template: `vappTemplate-${id}` }))
  templateVm = (id: string): string => this.to(fill(at.template, { template: `vm-${id}` }))
}

export const link = (
  rel: string,
  href: string,
  more: { readonly type?: string; readonly name?: string } = {},
): Element => element('Link', { rel, type: more.type, name: more.name, href })

type LinkViewer = Pick<Caller, 'principal' | 'version' | 'dialect'>

function actionLinks({ rel, path, document, also }: Action, href: string, { dialect }: LinkViewer) {
  const type = (name: string) => ({ type: dialect.media(name) })
  return [
    link(rel, `${href}/${path}`, document === undefined ? {} : type(document)),
    ...(also ? [link(also.rel, `${href}/action/${also.rel}`, type(also.document))] : []),
  ]
}

/** Links for the actions that would be accepted now, by right and status, from the same table as the routes. */
export function vmLinks(vm: VmRow, href: string, sees: LinkViewer): Element[] {
  const { principal, version } = sees
  if (vm.closed) return []
  const legal = operations.filter(
    (operation) =>
      may(principal, operation.permission, vm) &&
      decideFor(vm, vm.projected_status, operation) === 'go' &&
      isIn(version, operation.since) &&
      (operation.offered?.(vm) ?? true),
  )
  return legal.flatMap(({ kind, action }) => [
    ...(action ? actionLinks(action, href, sees) : []),
    ...(kind === 'delete' ? [link('remove', href)] : []),
  ])
}

export function vappLinks(vms: readonly VmRow[], href: string, sees: LinkViewer): Element[] {
  const fits = (whole: VappOperation): boolean => {
    const legal = (vm: VmRow) => {
      const operation = whole.forVm(vm)
      return (
        operation !== undefined &&
        !vm.closed &&
        decideFor(vm, vm.projected_status, operation) === 'go' &&
        (operation.offered?.(vm) ?? true)
      )
    }
    return whole.kind === 'delete' ? vms.every(legal) : vms.some(legal)
  }
  return vappOperations.flatMap((whole) => {
    const { permission, action, since } = whole
    if (!may(sees.principal, permission) || !isIn(sees.version, since) || !fits(whole)) return []
    return action ? actionLinks(action, href, sees) : [link('remove', href)]
  })
}

/** Links for renaming it and for its metadata. */
export const noteLinks = (
  { closed }: { readonly closed: boolean },
  href: string,
  media: 'vm' | 'vApp',
  { principal, dialect }: Pick<Caller, 'principal' | 'dialect'>,
): Element[] => [
  ...(!closed && may(principal, 'vm:edit')
    ? [link('edit', href, { type: dialect.media(media) })]
    : []),
  link('down', `${href}/metadata`, { type: dialect.media('metadata') }),
]

// Converts libvirt's names to TypeScript style.

/** DOMAIN_GET_XML_DESC or domain_get_xml_desc → domainGetXmlDesc; callbackID stays unchanged. */
export function camel(name: string): string {
  if (!name.includes('_') && !/^[A-Z0-9]+$/.test(name)) return name
  return name.toLowerCase().replaceAll(/_+([a-z0-9])/g, (_, letter: string) => letter.toUpperCase())
}

/** remote_nonnull_domain_snapshot → DomainSnapshot */
export function typeName(name: string): string {
  const one = camel(name.replace(/^(remote|qemu)_(nonnull_)?/, ''))
  return one.charAt(0).toUpperCase() + one.slice(1)
}

/** REMOTE_PROC_DOMAIN_CREATE → domainCreate, QEMU_PROC_DOMAIN_MONITOR_COMMAND → qemuDomainMonitorCommand */
export function procedureName(name: string): string {
  return name.startsWith('QEMU_PROC_')
    ? camel(name.replace('QEMU_PROC_', 'QEMU_'))
    : camel(name.replace('REMOTE_PROC_', ''))
}

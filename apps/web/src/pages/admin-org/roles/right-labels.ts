/** The rights that a role of an organisation can have, beside session, which all have. */
export const rightLabels = {
  'org:read': 'Read the organisation: data centres, templates, networks',
  'vm:read': 'See VMs, tasks and events',
  'vm:power': 'Start and stop VMs, cancel tasks',
  'vm:console': 'See and use screens of VMs',
  'vm:edit': 'Create, change and delete VMs and templates',
  'network:read': 'See edge gateways and their addresses',
  'network:edit': 'Change networks, edge gateways and security groups',
  'org:admin': 'Manage users, roles and webhooks',
} as const
export type RoleRight = keyof typeof rightLabels

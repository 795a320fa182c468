# An edge gateway of its own for a network that is reached from the outside, for system administrators.
terraform {
  required_providers {
    skerry = { source = "skerry.example/skerry/skerry" }
  }
}

# SKERRY_URL and SKERRY_TOKEN say which cloud, and as whom.
provider "skerry" {}

variable "external_network" {
  default = "internet"
}

variable "external_address" {
  default = "203.0.113.20"
}

variable "port" {
  default = 443
}

data "skerry_external_network" "outside" {
  name = var.external_network
}

resource "skerry_edge_gateway" "office" {
  name             = "office"
  description      = "To the network of the office"
  external_network = data.skerry_external_network.outside.id

  # NAT rules may use these addresses, and that of the gateway.
  external_addresses = [var.external_address]
}

resource "skerry_network" "public" {
  name         = "public"
  kind         = "natRouted"
  gateway      = "192.168.30.1"
  netmask      = "255.255.255.0"
  edge_gateway = skerry_edge_gateway.office.id
}

# The network names the gateway, and the rules name the network: they are made last.
resource "skerry_edge_rules" "office" {
  edge_gateway = skerry_network.public.edge_gateway

  firewall = {
    rules = [
      { description = "The web server", direction = "in", protocols = ["tcp"], destination = "internal", destination_ports = var.port },
      { description = "Updates", direction = "out", source = "internal" },
    ]
  }

  nat = [
    { type = "DNAT", external_address = var.external_address, external_port = var.port, internal_address = "192.168.30.10" },
    { type = "SNAT", external_address = skerry_edge_gateway.office.address, internal_address = "192.168.30.0/24" },
  ]
}

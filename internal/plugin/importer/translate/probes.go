package translate

import (
	corev1 "k8s.io/api/core/v1"

	v1 "github.com/example/appservice-operator/api/v1"
)

func (a *Application) probePieces() []piece {
	c := a.container()
	var list []piece
	add := func(field string, probe *corev1.Probe, set func(*v1.Probes, v1.Probe)) {
		if probe == nil {
			return
		}
		list = append(list, piece{from: a.fromMain(field), set: func(spec *v1.AppServiceSpec) {
			set(made(&spec.Probes), a.probe(probe))
		}})
	}
	add("livenessProbe", c.LivenessProbe, func(to *v1.Probes, probe v1.Probe) { to.Liveness = &probe })
	add("readinessProbe", c.ReadinessProbe,
		func(to *v1.Probes, probe v1.Probe) { to.Readiness = &v1.ReadinessProbe{Probe: probe} })
	if c.ReadinessProbe == nil && a.Stamped() { // it was turned off
		list = append(list, piece{from: a.fromMain("readinessProbe"), set: func(spec *v1.AppServiceSpec) {
			made(&spec.Probes).Readiness = &v1.ReadinessProbe{None: true}
		}})
	}
	add("startupProbe", c.StartupProbe, func(to *v1.Probes, probe v1.Probe) { to.Startup = &probe })
	return list
}

// probe returns a probe of a pod in the form of a spec.
func (a *Application) probe(p *corev1.Probe) v1.Probe {
	out := v1.Probe{
		Exec:                          p.Exec,
		InitialDelaySeconds:           notZero(p.InitialDelaySeconds),
		PeriodSeconds:                 notZero(p.PeriodSeconds),
		TimeoutSeconds:                notZero(p.TimeoutSeconds),
		SuccessThreshold:              notZero(p.SuccessThreshold),
		FailureThreshold:              notZero(p.FailureThreshold),
		TerminationGracePeriodSeconds: p.TerminationGracePeriodSeconds,
	}
	if get := p.HTTPGet; get != nil {
		out.HTTPGet = &v1.HTTPGetProbe{Path: get.Path, Port: &get.Port, Scheme: get.Scheme, HTTPHeaders: get.HTTPHeaders}
	}
	if p.TCPSocket != nil {
		out.TCPSocket = &v1.TCPSocketProbe{Port: &p.TCPSocket.Port}
	}
	if p.GRPC != nil {
		out.GRPC = &v1.GRPCProbe{Port: &p.GRPC.Port, Service: p.GRPC.Service}
	}
	return out
}

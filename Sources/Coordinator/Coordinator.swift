// Coordinator

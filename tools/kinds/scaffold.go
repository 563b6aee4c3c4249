package kinds

func Scaffold(root, name string) ([]string, error) { return nil, nil }
